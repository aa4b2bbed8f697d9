export function writeSite(_folder: string): void {}
