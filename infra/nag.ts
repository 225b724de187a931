import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';

/** Has `cdk synth` fail on findings of the AwsSolutions rules that nobody has given a reason for. */
export function checkAwsSolutions(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}

/** Accepts one finding at a construct, as `SQS3` or `IAM5[Resource::*]`, and says why. */
export function accept(construct: IConstruct, finding: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions-${finding}`, reason });
}
