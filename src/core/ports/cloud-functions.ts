/** The other functions of the stack; they are asked and not waited for. */
export interface CloudFunctions {
  resumePlanning(run: string): Promise<void>;
  mergeBatch(run: string, batch: number): Promise<void>;
  mergeRun(run: string): Promise<void>;
}
