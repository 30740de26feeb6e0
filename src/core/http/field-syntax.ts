/** The characters of an HTTP field name (RFC 9110, section 5.6.2). */
export const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** The characters of an HTTP field value: printable ASCII. */
export const FIELD_VALUE = /^[\x20-\x7E]*$/;
