import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { z } from 'zod';
import { readSettings } from '../../infra/settings.ts';
import { TalariaStack } from '../../infra/talaria-stack.ts';

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()) });
/** What cdk.json says, CDK flags included. */
export const CDK_CONTEXT = cdkJson.parse(JSON.parse(readFileSync('cdk.json', 'utf8'))).context;

/** Images by name: nothing is read of the worker's bundle, which a test may not have. */
const NAMED_IMAGES = {
  workerImage: 'registry.test/worker:1',
  defaultImage: 'registry.test/default:1',
};

/** The app with cdk.json's context and these settings, as it is before synthesis. */
export function talariaApp(settings: Record<string, unknown> = {}): {
  app: App;
  stack: TalariaStack;
} {
  const given = { ...CDK_CONTEXT, ...NAMED_IMAGES, ...settings };
  // No bundles: templates don't say what is in them.
  const app = new App({ context: { ...given, 'aws:cdk:bundling-stacks': [] } });
  const stack = new TalariaStack(app, 'Talaria', {
    stackName: 'talaria',
    settings: readSettings(given),
  });
  return { app, stack };
}

export function synthesise(settings: Record<string, unknown> = {}): Template {
  return Template.fromStack(talariaApp(settings).stack);
}
