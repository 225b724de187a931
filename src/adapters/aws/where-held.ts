import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';

/** Makes a conditional write; false where its condition does not hold. */
export async function whereHeld(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
