export function nodeProblem(version: string): string;
export function portProblem(name: string, text: string): string;
export function varsOf(args: readonly string[]): Record<string, string>;
export function providerName(
  vars: Readonly<Record<string, string | undefined>>,
  sandbox?: boolean,
  accounts?: number | null,
): string;
export function accountsNote(
  vars: Readonly<Record<string, string | undefined>>,
  accounts?: number | null,
): string | null;
export function banner(
  address: string,
  vars: Readonly<Record<string, string | undefined>>,
  details: readonly (readonly [name: string, text: string])[],
  accounts?: number | null,
): string;
export function addressOf(scheme: string, host: string, port: string): string;
export function describeStoppedProvider(
  vars: Readonly<Record<string, string | undefined>>,
): Promise<(readonly [name: string, text: string])[]>;
export function describeEngineModels(
  address: string,
  vars: Readonly<Record<string, string | undefined>>,
): Promise<(readonly [name: string, text: string])[]>;
export function startMessage(
  address: string,
  vars: Readonly<Record<string, string | undefined>>,
  details: readonly (readonly [name: string, text: string])[],
): Promise<string>;
