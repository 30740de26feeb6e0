/** Credentials of known forms: API keys, tokens, and private keys. */
const KEY_PATTERNS = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\w+/=\s\\]{0,10000}/g,
  /eyJ[\w-]{8,1000}\.[\w-]{8,2000}\.[\w-]{8,1000}/g,
  // After a backslash and n, an escaped line in JSON, too.
  /(?:(?<![A-Za-z\d])|(?<=\\n))(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abprs]|glpat|whsec)[-_][\w-]{16,200}/g,
  /(?:AKIA|ASIA|AIza|hf_)\w{16,64}/g,
  /(?<=[Bb]earer )[\w.~+/=-]{16,1000}/g,
];
const EMAIL = /(?:(?<=\\n)|(?<!\\))[\w.%+-]{1,64}@[A-Za-z\d-]{1,63}(?:\.[A-Za-z\d-]{1,63}){1,8}/g;
/** 13 to 19 digits, perhaps in groups. */
const CARD = /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g;
/** With a country code, with brackets, with a leading zero, or as in North America. */
const PHONES = [
  /\+\d(?:[ ()./-]{0,2}\d){7,14}(?!\d)/g,
  /\(\d{2,5}\)[ -]?\d{3,4}[ -]?\d{3,5}(?!\d)/g,
  /(?<![\d.,-])0\d{1,4}[ /-]\d{3,4}[ -]?\d{3,8}(?!\d)/g,
  /(?<![\d.,-])\d{3}-\d{3}-\d{4}(?!\d)/g,
];

/** Whether the check digit of a card number is right (Luhn). */
function isCardNumber(text: string): boolean {
  let sum = 0;
  const digits = text.replace(/\D/g, "");
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const weighted = index % 2 === 1 ? 2 * digit : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}

/**
 * Replaces email addresses, card numbers, phone numbers and credentials by the name of their kind. It recognises them by
 * their form, so names, postal addresses and unusual forms stay.
 */
export function redactText(text: string): string {
  let redacted = text;
  for (const pattern of KEY_PATTERNS) redacted = redacted.replace(pattern, "[key]");
  redacted = redacted
    .replace(EMAIL, "[email]")
    .replace(CARD, (number) => (isCardNumber(number) ? "[card]" : number));
  for (const pattern of PHONES) redacted = redacted.replace(pattern, "[phone]");
  return redacted;
}
