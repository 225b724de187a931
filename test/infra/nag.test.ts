import { type Stack, Validations } from 'aws-cdk-lib';
import type { MetadataEntry } from 'constructs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkAwsSolutions } from '../../infra/nag.ts';
import { talariaApp } from './synthesise.ts';

const SYNTH_MS = 60_000;
const LOGIN_SECRET = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:login-abcdef';
/** Whatever changes what the stack is made of. */
const OTHER_SETTINGS = {
  vpcId: 'vpc-0123456789abcdef0',
  subnetIds: 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
  registrySecrets: { 'registry.test': LOGIN_SECRET },
  removalPolicy: 'destroy',
  reserveConcurrency: true,
};

/** Reasons by finding. */
const acceptedSchema = z.record(z.string(), z.string().min(20));

test(
  'every finding of AwsSolutions is accepted for a reason, and nothing else is',
  async () => {
    const { app, stack } = talariaApp();
    const accepted = acceptances(stack);
    checkAwsSolutions(app);
    expect(findings(() => app.synth())).toEqual([]);

    const bare = talariaApp();
    // What a construct accepts is kept as its metadata, which nothing takes back.
    for (const { node } of bare.stack.node.findAll()) Object.assign(node, { _metadata: [] });
    checkAwsSolutions(bare.app);
    const found = findings(() => bare.app.synth());
    expect(unique(accepted.map(({ id }) => id))).toEqual(unique(found));

    await expect(report(accepted)).toMatchFileSnapshot('../../docs/nag.md');
  },
  SYNTH_MS,
);

test(
  'with other settings there is no finding either',
  () => {
    const { app } = talariaApp(OTHER_SETTINGS);
    checkAwsSolutions(app);
    expect(findings(() => app.synth())).toEqual([]);
  },
  SYNTH_MS,
);

interface Acceptance {
  id: string;
  reason: string;
  path: string;
}

function acceptances(stack: Stack): Acceptance[] {
  const key = Validations.ACKNOWLEDGED_RULES_METADATA_KEY;
  const isAcceptance = ({ type }: MetadataEntry) => type === key;
  return stack.node.findAll().flatMap(({ node }) =>
    node.metadata
      .filter(isAcceptance)
      .flatMap(({ data }) => Object.entries(acceptedSchema.parse(data)))
      .map(([id, reason]) => ({ id: plain(id), reason, path: node.path })),
  );
}

/** What `synthesise` fails on, by rule and finding. */
function findings(synthesise: () => unknown): string[] {
  try {
    synthesise();
    return [];
  } catch (error) {
    const named = String(error).matchAll(/Acknowledge with '([^']+)'/g);
    const ids = Array.from(named, ([, id]) => plain(id ?? ''));
    if (ids.length === 0) throw error;
    return ids;
  }
}

/** As `SQS3` or `IAM5[…]`, without the hashes of logical ids. */
function plain(id: string): string {
  return id.replace(/^(\w+::)?AwsSolutions-/, '').replace(/[0-9A-F]{8}(?=[.>])/g, '');
}

function unique(ids: string[]): string[] {
  return [...new Set(ids)].sort();
}

function report(accepted: Acceptance[]): string {
  const rows = accepted
    .map(({ id, path, reason }) => `| \`${id}\` | ${path.replace('Talaria/', '')} | ${reason} |`)
    .sort();
  return [
    '# Findings of cdk-nag that are accepted',
    '',
    'The stack passes the AwsSolutions rules (`cdk synth` checks them). These are the findings that a',
    'construct accepts, and why. Made by `npx vitest run --project infra -u`.',
    '',
    '| finding | at | reason |',
    '|---|---|---|',
    ...new Set(rows),
    '',
  ].join('\n');
}
