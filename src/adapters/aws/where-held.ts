import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { untilNotThrottled } from './until-not-throttled.ts';

/**
 * Makes a conditional write, for as long as the table is throttled; false where its condition does not
 * hold.
 */
export async function whereHeld(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await untilNotThrottled(write);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
