import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { synthesise } from './synthesise.ts';

const EXISTING = { vpcId: 'vpc-0123456789abcdef0', subnetIds: 'subnet-0123456789abcdef0' };

describe('the stack’s own network', () => {
  const template = synthesise();

  test('has public subnets, no NAT, and S3 and DynamoDB without a way over the internet', () => {
    template.resourceCountIs('AWS::EC2::Subnet', 2);
    template.resourceCountIs('AWS::EC2::NatGateway', 0);
    template.allResourcesProperties('AWS::EC2::VPCEndpoint', { VpcEndpointType: 'Gateway' });
    template.resourceCountIs('AWS::EC2::VPCEndpoint', 2);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ ASSIGN_PUBLIC_IP: 'ENABLED' }) },
    });
  });

  test('lets nothing in', () => {
    template.resourceCountIs('AWS::EC2::SecurityGroupIngress', 0);
    template.allResourcesProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupIngress: Match.absent(),
    });
  });
});

describe('an existing network', () => {
  test('is taken as it is, with a security group that lets nothing in', () => {
    const template = synthesise(EXISTING);
    template.resourceCountIs('AWS::EC2::VPC', 0);
    template.resourceCountIs('AWS::EC2::VPCEndpoint', 0);
    template.hasResourceProperties('AWS::EC2::SecurityGroup', {
      VpcId: EXISTING.vpcId,
      SecurityGroupIngress: Match.absent(),
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          SUBNET_IDS: EXISTING.subnetIds,
          ASSIGN_PUBLIC_IP: 'DISABLED',
        }),
      },
    });
  });
});

test('a named account and region need no look-up', () => {
  const template = synthesise({ account: '123456789012', region: 'eu-central-1' });
  expect(Object.keys(template.findResources('AWS::EC2::Subnet'))).toHaveLength(2);
});
