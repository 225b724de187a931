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

  /** Actions on single items and queries of the table itself. */
  grantItems(role: IRole, ...actions: ItemAction[]): void {
    grant(role, actions, [this.table.tableArn]);
  }

  /** The same, but for items of runs only: none of the fleet's, no task definitions. */
  grantRunItems(role: IRole, ...actions: ItemAction[]): void {
    grant(role, actions, [this.table.tableArn], {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['RUN#*'] },
    });
  }

  grantIndexes(role: IRole): void {
    const arns = Object.keys(INDEXES).map((index) => `${this.table.tableArn}/index/${index}`);
    grant(role, ['Query'], arns);
  }
}

/** Transactions are allowed by the actions that they are made of. */
type ItemAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

function grant(role: IRole, actions: ItemAction[], resources: string[], conditions = {}): void {
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: actions.map((action) => `dynamodb:${action}`),
      resources,
      conditions,
    }),
  );
}
