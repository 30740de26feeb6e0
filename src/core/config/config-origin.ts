/** The environment variables that the configuration depends on. */
export interface ConfigOrigin {
  /** The configuration as JSON or base64; null: use the stored one. */
  readonly configJson: string | null;
  /** Whether edits of a configuration from the environment are stored. */
  readonly configWriteback: boolean;
  /** Whether an empty configuration starts with the development key, and sample accounts follow the default provider. */
  readonly development: boolean;
  /** The protocol of the default provider. */
  readonly providerDriver: string;
  /** The address of the default provider; null: the sandbox, if there is one. */
  readonly providerBaseUrl: string | null;
}
