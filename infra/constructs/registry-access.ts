import { Stack } from 'aws-cdk-lib';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { accept } from '../nag.ts';

/** Pulling from every repository of this account's ECR. */
export function grantPull(role: IRole): void {
  const repositories = { service: 'ecr', region: '*', resource: 'repository', resourceName: '*' };
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: [
        'ecr:BatchCheckLayerAvailability',
        'ecr:BatchGetImage',
        'ecr:GetDownloadUrlForLayer',
      ],
      resources: [Stack.of(role).formatArn(repositories)],
    }),
  );
  role.addToPrincipalPolicy(
    new PolicyStatement({ actions: ['ecr:GetAuthorizationToken'], resources: ['*'] }),
  );
  accept(
    role,
    'IAM5[Resource::arn:<AWS::Partition>:ecr:*:<AWS::AccountId>:repository/*]',
    'Rows may name any image of the account’s registry.',
  );
  accept(role, 'IAM5[Resource::*]', 'ecr:GetAuthorizationToken knows no resources.');
}

/** Reading of the logins of other registries, by the ARNs of their secrets. */
export function grantLogins(role: IRole, secrets: Readonly<Record<string, string>>): void {
  const resources = Object.values(secrets);
  if (resources.length === 0) return;
  role.addToPrincipalPolicy(
    new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources }),
  );
}
