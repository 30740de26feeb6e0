export declare const root: string;
export declare const cacheFolder: string;
export declare const developmentVars: { readonly ADMIN_KEY: string; readonly GATEWAY_DEVELOPMENT: string };
export declare const quietEnvironment: Readonly<Record<string, string>>;
export declare function writeDevelopmentConfig(): string;
