const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;

/** Values of the runner's environment that must show up in no prompt, row or log. */
export function secretValues(
  env: Readonly<Record<string, string | undefined>>,
  apiKey: string | undefined,
): string[] {
  const values = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && SECRET_NAME.test(name) ? [value] : [],
  );
  return apiKey === undefined ? values : [apiKey, ...values];
}
