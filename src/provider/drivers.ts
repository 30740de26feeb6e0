import { contentGeneration } from "./content-generation/driver.ts";
import type { Driver } from "./driver.ts";
import { messages } from "./messages/driver.ts";
import { openai } from "./openai/driver.ts";
import { responses } from "./responses/driver.ts";
import { sessions } from "./sessions/driver.ts";

/** The protocols in which a provider may be spoken to; the first is the default. */
export const DRIVERS: readonly Driver[] = [sessions, openai, responses, messages, contentGeneration];

/** What `PROVIDER_DRIVER` may be. */
export const DRIVER_NAMES: readonly string[] = DRIVERS.map(({ id }) => id);

/** The driver of a name. Throws for a name that none has: the deployment's variables have been checked by then. */
export function driverNamed(name: string): Driver {
  const driver = DRIVERS.find(({ id }) => id === name);
  if (driver === undefined) throw new RangeError(`there is no provider driver ${JSON.stringify(name)}`);
  return driver;
}
