/** The module to run before all others of the gateway: its clock is `offset` milliseconds ahead. */
export const shiftedClock = (offset: number): string => `
  const now = Date.now;
  Date.now = () => now() + ${offset};`;
