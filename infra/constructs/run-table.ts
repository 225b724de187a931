import { RemovalPolicy } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

/** Indexes by name, as the adapters ask for them. */
const INDEXES: Record<string, { partitionKey: Attribute; sortKey: Attribute }> = {
  /** Batches that are open or unmerged. */
  live: {
    partitionKey: { name: 'live_pk', type: AttributeType.STRING },
    sortKey: { name: 'lease_until', type: AttributeType.NUMBER },
  },
  runs: {
    partitionKey: { name: 'runs_pk', type: AttributeType.STRING },
    sortKey: { name: 'started_at', type: AttributeType.STRING },
  },
};

/** The one table: what is true of runs, batches, prompts and the fleet. */
export class RunTable extends Construct {
  readonly name: string;
  readonly table: Table;

  constructor(scope: Construct, id: string, props: { keep: boolean }) {
    super(scope, id);
    this.table = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      deletionProtection: props.keep,
      removalPolicy: props.keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    for (const [indexName, keys] of Object.entries(INDEXES)) {
      this.table.addGlobalSecondaryIndex({
        indexName,
        ...keys,
        projectionType: ProjectionType.ALL,
      });
    }
    this.name = this.table.tableName;
  }

  /** Reading and writing of items; not the table itself, and no scans. */
  grantItems(role: IRole): void {
    this.grant(role, [...READ, ...WRITE], [this.table.tableArn]);
  }

  grantDelete(role: IRole): void {
    this.grant(role, ['dynamodb:DeleteItem'], [this.table.tableArn]);
  }

  grantIndexes(role: IRole): void {
    const indexes = Object.keys(INDEXES).map((index) => `${this.table.tableArn}/index/${index}`);
    this.grant(role, ['dynamodb:Query'], indexes);
  }

  /** The items of runs only: not the fleet's, not the task definitions'. None is deleted. */
  grantRunItems(role: IRole): void {
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: [...READ, ...WRITE],
        resources: [this.table.tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['RUN#*'] } },
      }),
    );
  }

  private grant(role: IRole, actions: string[], resources: string[]): void {
    role.addToPrincipalPolicy(new PolicyStatement({ actions, resources }));
  }
}

const READ = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'];
// Transactions are allowed by the actions that they are made of.
const WRITE = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:ConditionCheckItem'];
