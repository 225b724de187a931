import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArnFormat, type Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type IFunction, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { z } from 'zod';
import { accept } from '../nag.ts';

/** The stack's functions, which know each other by name: no reference of one to another is a cycle. */
export type FunctionName = 'starter' | 'dispatcher' | 'merge';

/** What all functions of the stack share. */
export interface FunctionSurroundings {
  failedEvents: IQueue;
  logRetentionDays: number;
}

interface LambdaFunctionProps extends FunctionSurroundings {
  name: FunctionName;
  description: string;
  environment: Record<string, string>;
  memorySize: number;
  timeout: Duration;
  /** How long an event is tried that came without anyone waiting for the answer. */
  maxEventAge: Duration;
  reservedConcurrentExecutions?: number | undefined;
}

/** One of functions/: bundled whole, its own role and log group, failed events kept. */
export class LambdaFunction extends Construct {
  readonly function: IFunction;
  readonly role: Role;

  constructor(scope: Construct, id: string, props: LambdaFunctionProps) {
    super(scope, id);
    const functionName = nameOf(this, props.name);
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: props.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    });
    logGroup.grantWrite(this.role);
    this.function = new NodejsFunction(this, 'Function', {
      functionName,
      description: props.description,
      entry: join(process.cwd(), 'functions', props.name, 'handler.ts'),
      handler: 'handler',
      runtime: Runtime.NODEJS_22_X,
      architecture: Architecture.ARM_64,
      role: this.role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      environment: {
        NODE_OPTIONS: '--enable-source-maps',
        ...props.environment,
      },
      memorySize: props.memorySize,
      timeout: props.timeout,
      maxEventAge: props.maxEventAge,
      retryAttempts: 2,
      onFailure: new SqsDestination(props.failedEvents),
      ...(props.reservedConcurrentExecutions === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrentExecutions }),
      bundling: {
        format: OutputFormat.ESM,
        target: 'node22',
        minify: true,
        keepNames: true,
        sourceMap: true,
        define: { TALARIA_VERSION: JSON.stringify(version()) },
        // The SDK too: what was tested is what runs.
        externalModules: [],
        mainFields: ['module', 'main'],
        // CommonJS packages in a bundle call require() for Node's own modules.
        banner:
          "import { createRequire as talariaRequire } from 'node:module'; const require = talariaRequire(import.meta.url);",
      },
    });
    accept(this.function, 'L1', 'Node 22 is what the worker and the tests have, and maintained.');
  }
}

function version(): string {
  const text = readFileSync(join(process.cwd(), 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

/** The name of a function of this stack, for whoever calls it. */
export function nameOf(scope: Construct, name: FunctionName): string {
  return `${Stack.of(scope).stackName}-${name}`;
}

/** Calling functions of this stack, by themselves too. */
export function grantInvoke(role: IRole, scope: Construct, ...names: FunctionName[]): void {
  const stack = Stack.of(scope);
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ['lambda:InvokeFunction'],
      resources: names.map((name) =>
        stack.formatArn({
          service: 'lambda',
          resource: 'function',
          resourceName: nameOf(scope, name),
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ),
    }),
  );
}
