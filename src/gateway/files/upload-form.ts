/** JSON schema of an upload's form. */
export const UPLOAD_FORM_SCHEMA = {
  type: "object",
  properties: {
    file: { type: "string", contentMediaType: "application/octet-stream" },
    purpose: { type: "string" },
    "expires_after[anchor]": { const: "created_at" },
    "expires_after[seconds]": { type: "integer" },
    expires_in_seconds: { type: "integer" },
  },
  required: ["file"],
};
