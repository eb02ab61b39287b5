/** IP addresses and CIDR ranges, parsed like in `regolith.compare` (`address` and `ranges`). */

/** An address as a number, or the first address of a range. */
export interface Address {
	/** Length in bits: 32 for IPv4, 128 for IPv6. */
	readonly bits: 32 | 128;
	readonly value: bigint;
}

export interface AddressRange extends Address {
	/** Number of leading bits that all addresses in the range share. */
	readonly prefix: number;
}

const mapped = '::ffff:';

/**
 * Parses an IP address. An IPv4-mapped address such as `::ffff:10.1.2.3` is the IPv4 address. Returns `undefined` for
 * leading zeros, zones, blanks and other notations.
 */
export function parseAddress(text: string): Address | undefined {
	const isMapped = text.toLowerCase().startsWith(mapped);
	return parseIpv4(isMapped ? text.slice(mapped.length) : text) ?? parseIpv6(text);
}

/** Parses a CIDR range such as `10.0.0.0/8`. Returns `undefined` for all other strings, and for IPv4-mapped ranges. */
export function parseAddressRange(text: string): AddressRange | undefined {
	const [first = '', length = '', ...others] = text.split('/');
	const address = parseIpv4(first) ?? parseIpv6(first);
	if (address === undefined || others.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined;
	const prefix = Number(length);
	return prefix > address.bits ? undefined : { ...address, prefix };
}

/** True if the range contains the address. A range never contains an address of the other version. */
export function isInRange({ bits, value }: Address, range: AddressRange): boolean {
	const shift = BigInt(range.bits - range.prefix);
	return bits === range.bits && value >> shift === range.value >> shift;
}

function parseIpv4(text: string): Address | undefined {
	const parts = text.split('.');
	const isAddress = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
	return isAddress ? { bits: 32, value: joinBits(parts.map(Number), 8) } : undefined;
}

function parseIpv6(text: string): Address | undefined {
	const [first = [], last, ...others] = text.split('::').map((half) => (half === '' ? [] : half.split(':')));
	if (others.length > 0) return undefined;
	const missing = 8 - first.length - (last?.length ?? 0);
	if (last === undefined ? missing !== 0 : missing < 1) return undefined;
	const groups = [...first, ...Array<string>(missing).fill('0'), ...(last ?? [])];
	if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
	const value = joinBits(
		groups.map((group) => Number.parseInt(group, 16)),
		16,
	);
	// Engines disagree about IPv4-mapped addresses in hexadecimal.
	return value >> 32n === 0xffffn ? undefined : { bits: 128, value };
}

function joinBits(parts: readonly number[], width: number): bigint {
	return parts.reduce((joined, part) => (joined << BigInt(width)) | BigInt(part), 0n);
}
