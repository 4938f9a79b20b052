// Colours that people with any kind of colour vision can tell apart (Okabe and Ito), and a scale (like cividis).

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

// On a dark page the darkest of them, blue, is a shade lighter.
export const GROUPS = [isDark() ? "#2f8fd6" : "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a900"];
export const OTHER = "#98a2ad";
const SCALE = ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"];
const SCALE_DARK = ["#3f5e9e", "#5f7397", "#84888f", "#a89f7d", "#d2c068", "#fee838"];

export const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

export function scaleStops() {
  return isDark() ? SCALE_DARK : SCALE;
}

export function onScale(share) {
  const stops = scaleStops().map(rgb);
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(place), stops.length - 2);
  return stops[below].map((value, k) => Math.round(value + (stops[below + 1][k] - value) * (place - below)));
}
