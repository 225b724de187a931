import type { Template } from 'aws-cdk-lib/assertions';
import { z } from 'zod';

const oneOrMore = <Item extends z.ZodType>(item: Item) =>
  z.union([z.array(item), item.transform((one) => [one])]);

const statementSchema = z.object({
  Effect: z.enum(['Allow', 'Deny']),
  Action: oneOrMore(z.string()),
  Resource: oneOrMore(z.unknown()),
  Condition: z.record(z.string(), z.unknown()).optional(),
});
const policySchema = z.object({
  Properties: z.object({
    Roles: z.array(z.object({ Ref: z.string() })),
    PolicyDocument: z.object({ Statement: z.array(statementSchema) }),
  }),
});

export interface RoleStatement {
  effect: 'Allow' | 'Deny';
  actions: string[];
  /** Intrinsic functions as text: `<RunBucket.Arn>/runs/*`, logical ids without their hashes. */
  resources: string[];
  condition: unknown;
}

/** All statements that hold for the role whose logical id begins so. */
export function statementsOf(template: Template, role: string): RoleStatement[] {
  const policies = Object.values(template.findResources('AWS::IAM::Policy')).map((policy) =>
    policySchema.parse(policy),
  );
  return policies
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }) => plainId(Ref) === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .map((statement) => ({
      effect: statement.Effect,
      actions: statement.Action,
      resources: statement.Resource.map(asText),
      condition: statement.Condition,
    }));
}

/** The allowed actions of a role, each with what it may be done to. */
export function allowedActions(template: Template, role: string): Map<string, string[]> {
  const allowed = new Map<string, string[]>();
  for (const { effect, actions, resources } of statementsOf(template, role)) {
    if (effect === 'Deny') continue;
    for (const action of actions) {
      allowed.set(action, [...(allowed.get(action) ?? []), ...resources].sort());
    }
  }
  return allowed;
}

/** A value of a template, with its intrinsic functions as text. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  const { Ref, ...functions } = z
    .object({ Ref: z.string().optional(), 'Fn::GetAtt': z.array(z.string()).optional() })
    .loose()
    .parse(value);
  if (Ref !== undefined) return `<${plainId(Ref)}>`;
  const [id, attribute] = functions['Fn::GetAtt'] ?? [];
  if (id !== undefined) return `<${plainId(id)}.${attribute}>`;
  const join = z.tuple([z.string(), z.array(z.unknown())]).safeParse(functions['Fn::Join']);
  return join.success ? join.data[1].map(asText).join(join.data[0]) : JSON.stringify(value);
}

/** Without the hash that the CDK puts at a logical id's end. */
function plainId(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '');
}
