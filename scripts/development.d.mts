export declare const root: string;
export declare const cacheFolder: string;
export declare const assetsFolder: string;
export declare const developmentVars: {
  readonly ADMIN_KEY: string;
  readonly GATEWAY_DEVELOPMENT: string;
  readonly GATEWAY_SINGLE_PROCESS: string;
};
export declare const quietEnvironment: Readonly<Record<string, string>>;
export declare function writeDevelopmentConfig(): string;
/** Where a process names the private hosts that the browsers which it starts may reach. */
export function privateHostsFile(pid: number): string;
/** Lets the browsers that Miniflare starts in this process reach these `host:port` pairs, separated by commas. */
export function allowPrivateHosts(hosts: string): void;
/** Whether a process with this id exists. */
export declare function isRunning(pid: number): boolean;
