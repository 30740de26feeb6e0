/** Returns why the arguments of a start command cannot be meant; empty if they can. */
export function argumentProblem(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string;
