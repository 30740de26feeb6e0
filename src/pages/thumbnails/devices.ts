import profiles from "./devices.json" with { type: "json" };

/** A device to emulate (docs/page-contract/thumbnails.md). */
export interface Device {
  /** Lower case, letters and digits only. */
  readonly name: string;
  /** `%s` is replaced by the browser's version; null: the browser's own user agent. */
  readonly userAgent: string | null;
  /** Viewport in CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly deviceScaleFactor: number;
  readonly mobile: boolean;
  readonly touch: boolean;
}

const byName: ReadonlyMap<string, Device> = new Map(profiles.map((device) => [device.name, device]));

/** The names of all profiles, in alphabetical order. */
export const DEVICE_NAMES: readonly string[] = [...byName.keys()].sort();

/** The profile with that name, ignoring case, or undefined. */
export function findDevice(name: string): Device | undefined {
  return byName.get(name.toLowerCase());
}
