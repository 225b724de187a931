import {
  GatewayVpcEndpointAwsService,
  IpAddresses,
  type IVpc,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { accept } from '../nag.ts';
import type { Settings } from '../settings.ts';

/** Addresses of a subnet: 2^(32 - 20), more than a fleet has tasks. */
const SUBNET_MASK = 20;

/** Where tasks run: out to anywhere, in from nowhere. */
export class TaskNetwork extends Construct {
  readonly subnetIds: string[];
  readonly securityGroupId: string;
  readonly assignPublicIp: 'ENABLED' | 'DISABLED';

  constructor(
    scope: Construct,
    id: string,
    props: Pick<Settings, 'vpcId' | 'subnetIds' | 'assignPublicIp'>,
  ) {
    super(scope, id);
    const { vpcId } = props;
    const vpc = vpcId === undefined ? this.newVpc() : this.existingVpc(vpcId);
    this.subnetIds = vpcId === undefined ? publicSubnetIds(vpc) : props.subnetIds;
    // Without NAT a public address is the only way out.
    this.assignPublicIp = vpcId === undefined || props.assignPublicIp ? 'ENABLED' : 'DISABLED';
    const group = new SecurityGroup(this, 'Tasks', {
      vpc,
      description: 'Tasks: no way in; out to registries, models and whatever prompts ask for',
      allowAllOutbound: true,
    });
    this.securityGroupId = group.securityGroupId;
  }

  private newVpc(): IVpc {
    const vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr('10.0.0.0/16'),
      maxAzs: 2,
      natGateways: 0,
      subnetConfiguration: [
        { name: 'Public', subnetType: SubnetType.PUBLIC, cidrMask: SUBNET_MASK },
      ],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
      restrictDefaultSecurityGroup: false,
    });
    accept(vpc, 'VPC7', 'Nothing comes in; flow logs of image pulls cost more than they tell.');
    return vpc;
  }

  /** Without a look-up, so that synthesis needs no account. */
  private existingVpc(vpcId: string): IVpc {
    return Vpc.fromVpcAttributes(this, 'Vpc', { vpcId, availabilityZones: ['unused'] });
  }
}

function publicSubnetIds(vpc: IVpc): string[] {
  return vpc.publicSubnets.map((subnet) => subnet.subnetId);
}
