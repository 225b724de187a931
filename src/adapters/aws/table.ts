import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The one table, as adapters get it. */
export interface Table {
  client: DynamoDBDocumentClient;
  name: string;
}

/** Region, endpoint and credentials come from the environment, as everywhere in AWS. */
export function openTable(name: string, settings: DynamoDBClientConfig = {}): Table {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(settings), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return { client, name };
}
