import type { SelectionStrategy } from "../../core/config/selection-strategy.ts";
import { anthropicDriver } from "./anthropic/driver.ts";
import type { Driver } from "./driver.ts";
import { geminiDriver } from "./gemini/driver.ts";
import { openaiDriver } from "./openai/driver.ts";
import { openaiResponsesDriver } from "./openai-responses/driver.ts";
import { sessionsDriver } from "./sessions/driver.ts";

/** All provider protocols. The first is the default. */
export const DRIVERS: readonly Driver[] = [
  sessionsDriver,
  openaiDriver,
  openaiResponsesDriver,
  anthropicDriver,
  geminiDriver,
];

/** The drivers' names for documentation and forms. */
export const DRIVER_NAMES: readonly string[] = DRIVERS.map(({ id }) => id);

/** Earlier names of drivers → their names today. Variables, configurations and captures may still contain them. */
export const DRIVER_ALIASES: ReadonlyMap<string, string> = new Map([
  ["responses", "openai-responses"],
  ["messages", "anthropic"],
  ["content-generation", "gemini"],
]);

/** The name of a driver today, for a current or an earlier one. */
export function getCurrentDriverName(name: string): string {
  return DRIVER_ALIASES.get(name) ?? name;
}

/** Finds a driver by its current or earlier name. Returns undefined if there is none. */
export function findDriver(name: string): Driver | undefined {
  const id = getCurrentDriverName(name);
  return DRIVERS.find((driver) => driver.id === id);
}

/**
 * Like {@link findDriver}, but throws a `RangeError` for an unknown name. The deployment's variables are validated
 * earlier.
 */
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

/** Whether two names denote the same driver. */
export function isSameDriver(left: string, right: string): boolean {
  return getCurrentDriverName(left) === getCurrentDriverName(right);
}

/** How the pool selects accounts of a provider with this driver. `setting`: the provider's own; absent: it has none. */
export function selectStrategy(driver: string, setting: SelectionStrategy | undefined): SelectionStrategy {
  return setting ?? findDriver(driver)?.defaultStrategy ?? "affinity";
}

/**
 * Whether the gateway sends a cheap request to find out when a provider with this driver works again. By default only where
 * that needs no sign-in. `setting`: the provider's own; absent: it has none.
 */
export function probesActively(driver: string, setting?: boolean): boolean {
  return setting ?? needsNoAccount(driver);
}
