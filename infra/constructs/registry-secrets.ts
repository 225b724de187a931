import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';

/** Reading of the logins of registries, whose secrets are named by their whole ARN. */
export function grantReadSecrets(role: IRole, secrets: Readonly<Record<string, string>>): void {
  const resources = Object.values(secrets);
  if (resources.length === 0) return;
  role.addToPrincipalPolicy(
    new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources }),
  );
}
