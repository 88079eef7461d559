/** DATE and TIMESTAMP values as ISO 8601 text. */

const DAY_MS = 86_400_000;
const MICROS_PER_DAY = 86_400_000_000n;

/** `YYYY-MM-DD` of days since 1970-01-01; years beyond four digits as they are. */
export function formatDate(days: number): string {
  // Howard Hinnant's civil_from_days, exact for every 32-bit day, where Date ends at 10^8 days.
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const sign = year < 0 ? "-" : "";
  return `${sign}${padded(Math.abs(year), 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

/** `YYYY-MM-DDTHH:MM:SS[.ffffff]` of microseconds since 1970-01-01, without trailing zeros. */
export function formatTimestamp(micros: bigint): string {
  let days = micros / MICROS_PER_DAY;
  let time = Number(micros - days * MICROS_PER_DAY);
  if (time < 0) {
    days -= 1n;
    time += DAY_MS * 1000;
  }
  const seconds = Math.floor(time / 1_000_000);
  const fraction = time % 1_000_000;
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const text = `${formatDate(Number(days))}T${clock.map((part) => padded(part, 2)).join(":")}`;
  return fraction === 0 ? text : `${text}.${padded(fraction, 6).replace(/0+$/, "")}`;
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
