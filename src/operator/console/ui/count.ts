import { language } from "../language.ts";

const wholeNumber = new Intl.NumberFormat(language);

/** 12345 → "12,345". */
export const formatCount = (value: number): string => wholeNumber.format(value);

const percentage = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });

/** 12.5 → "12.5%", with a space in languages that have one. */
export const formatPercent = (percent: number): string => percentage.format(percent / 100);

/** "1 account", "2 accounts". */
export function formatPlural(amount: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(amount)} ${amount === 1 ? singular : plural}`;
}
