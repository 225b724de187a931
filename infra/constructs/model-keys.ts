import { RemovalPolicy, SecretValue } from 'aws-cdk-lib';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { accept } from '../nag.ts';

/** The keys of model endpoints by host, one JSON object. It is made empty, and filled by its owner. */
export class ModelKeys extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, props: { keep: boolean }) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: 'Keys of model endpoints: {"<host>": "<key>"}',
      // Never changes, so that no update of the stack overwrites the owner's keys.
      secretStringValue: SecretValue.unsafePlainText('{}'),
      removalPolicy: props.keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    this.arn = secret.secretArn;
    accept(secret, 'SMG4', 'The keys are other companies’: AWS can’t make new ones.');
  }

  grantRead(role: IRole): void {
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [this.arn] }),
    );
  }
}
