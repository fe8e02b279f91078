/**
 * Tells a command with its arguments in one string ("npx -y foo") from the path of a program that
 * contains spaces.
 */

/** Returns the program alone if the command also contains arguments. */
export function programWithoutArguments(command: string): string | undefined {
  const [program = "", ...words] = command.trim().split(/\s+/);
  if (words.length === 0) return undefined;
  // A path may contain spaces; then only an option is certainly an argument.
  return !/[\\/]/.test(program) || words.some((word) => word.startsWith("-")) ? program : undefined;
}
