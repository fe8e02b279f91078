/** Which colours the dashboard has. */
export const themes = ["dark", "light", "plain"] as const;
export type Theme = (typeof themes)[number];

/**
 * Returns the theme for a terminal: none with `NO_COLOR`, the one that `GOBLIN_THEME` names, or the
 * one for the background that the terminal tells in `COLORFGBG`.
 */
export function themeOf(env: Readonly<Record<string, string | undefined>>): Theme {
  if (env["NO_COLOR"]) return "plain";
  const named = themes.find((theme) => theme === env["GOBLIN_THEME"]);
  if (named) return named;
  // "foreground;background", sometimes with a third number between them: 7 and 9 to 15 are bright.
  const background = Number(env["COLORFGBG"]?.split(";").at(-1) || Number.NaN);
  return background === 7 || (background >= 9 && background <= 15) ? "light" : "dark";
}
