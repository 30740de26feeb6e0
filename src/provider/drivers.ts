import { anthropicDriver } from "./anthropic/driver.ts";
import type { Driver } from "./driver.ts";
import { geminiDriver } from "./gemini/driver.ts";
import { openaiDriver } from "./openai/driver.ts";
import { openaiResponsesDriver } from "./openai-responses/driver.ts";
import { sessionsDriver } from "./sessions/driver.ts";

/** The protocols in which a provider may be spoken to; the first is the default. */
export const DRIVERS: readonly Driver[] = [
  sessionsDriver,
  openaiDriver,
  openaiResponsesDriver,
  anthropicDriver,
  geminiDriver,
];

/** The drivers' names, as documentation and forms offer them. */
export const DRIVER_NAMES: readonly string[] = DRIVERS.map(({ id }) => id);

/** Earlier names of drivers → their names today. Variables, configurations and captures may still contain them. */
export const DRIVER_ALIASES: ReadonlyMap<string, string> = new Map([
  ["responses", "openai-responses"],
  ["messages", "anthropic"],
  ["content-generation", "gemini"],
]);

function currentName(name: string): string {
  return DRIVER_ALIASES.get(name) ?? name;
}

/** The driver of a name or of an earlier name; undefined: no driver has it. */
export function findDriver(name: string): Driver | undefined {
  const id = currentName(name);
  return DRIVERS.find((driver) => driver.id === id);
}

/** As {@link findDriver}. Throws for an unknown name: the deployment's variables have been checked by then. */
export function getDriver(name: string): Driver {
  const driver = findDriver(name);
  if (driver === undefined) throw new RangeError(`there is no provider driver ${JSON.stringify(name)}`);
  return driver;
}

/** Whether a provider with this driver can be used with its own key alone, without accounts that sign in. */
export function needsNoAccount(name: string): boolean {
  const driver = findDriver(name);
  return driver !== undefined && driver.signsIn !== true;
}

/** Whether two names stand for the same driver. */
export function isSameDriver(one: string, other: string): boolean {
  return currentName(one) === currentName(other);
}
