/** Builds the console into dist/assets/console unless what is there is newer than its sources. */
export declare function buildConsole(): Promise<void>;
