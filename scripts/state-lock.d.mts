export function lockState(
  folder: string,
  address: string,
): {
  readonly holder: { readonly pid: number; readonly address: string } | null;
  readonly isTakenOver: boolean;
};
