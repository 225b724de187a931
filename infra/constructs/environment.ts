type Needed<Env> = {
  [Name in keyof Env]-?: undefined extends Env[Name] ? never : Name;
}[keyof Env];

/**
 * The variables that an entry point's env.ts asks for, so that a missing one fails the type check. The
 * region is Lambda's to set.
 */
export type EnvironmentFor<Env> = Record<Exclude<Needed<Env>, 'AWS_REGION'>, string> &
  Partial<Record<keyof Env, string>>;
