import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Which addresses may be called. A name is judged by the addresses that it stands for when a connection is made. */

/** An address that is not public was named. */
export class PrivateAddressError extends Error {
	override readonly name = 'PrivateAddressError';

	constructor() {
		// Nothing about the address: who names one is not told what names stand for in this network.
		super('the address is not public');
	}
}

/** Addresses of clouds that look public and answer secrets to the machine that asks. */
const metadataAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is of the public internet: unicast, and not loopback, link-local, private, unique-local, multicast,
 * or of any other range with a meaning of its own, in whatever notation. Text that is no address is not.
 */
export function isPublicAddress(text: string): boolean {
	// The library also reads notations that no look-up answers.
	if (isIP(text) === 0) return false;
	const address = ipaddr.process(text);
	if (address.range() !== 'unicast' || metadataAddresses.has(address.toString())) return false;
	return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}

/** Throws `PrivateAddressError` for a host that is an address, as it stands in a URL, and not a public one. */
export function requirePublicHost(hostname: string): void {
	const address = hostname.replace(/^\[|\]$/g, '');
	if (isIP(address) !== 0 && !isPublicAddress(address)) throw new PrivateAddressError();
}

/** How names are looked up: as `dns.lookup` does. */
export type Resolve = (
	hostname: string,
	options: { readonly all: true },
	done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/**
 * A `lookup` for connections that fails where any address of the name is not public. The connection uses the very
 * addresses that were looked at, so a name that stands for another address a moment later gains nothing.
 */
export function publicLookup(resolve: Resolve = lookup): LookupFunction {
	return (hostname, options, done) => {
		resolve(hostname, { ...options, all: true }, (error, addresses) => {
			const [first] = addresses ?? [];
			if (error !== null || first === undefined) return done(error ?? new Error('no address'), '', 0);
			if (!addresses.every(({ address }) => isPublicAddress(address))) return done(new PrivateAddressError(), '', 0);
			if (options.all) return done(null, [...addresses]);
			done(null, first.address, first.family);
		});
	};
}
