import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The one table, as adapters get it. */
export interface Table {
  client: DynamoDBDocumentClient;
  name: string;
}

/** Region, endpoint and credentials come from the environment, as everywhere in AWS. */
export function openTable(name: string): Table {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return { client, name };
}
