import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { untilNotThrottled } from './until-not-throttled.ts';

/** Makes a conditional write; false where its condition does not hold. */
export async function ifHeld(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** The same for as long as the table is throttled. */
export async function whereHeld(write: () => Promise<unknown>): Promise<boolean> {
  return await ifHeld(() => untilNotThrottled(write));
}
