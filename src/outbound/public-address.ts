import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses that may be called. A host name is checked by its addresses when the connection is opened. */

/** Thrown for an address that is not public. */
export class PrivateAddressError extends Error {
	override readonly name = 'PrivateAddressError';

	constructor() {
		// No details: the message must not reveal name resolution in this network.
		super('the address is not public');
	}
}

/** Cloud addresses that look public but return secrets to the calling machine. */
const metadataAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for an address on the public internet: unicast, and not loopback, link-local, private, unique-local, multicast
 * or in any other special range, in any notation. False for text that is not an address.
 */
export function isPublicAddress(text: string): boolean {
	// The library also accepts notations that no DNS lookup returns.
	if (isIP(text) === 0) return false;
	const address = ipaddr.process(text);
	if (address.range() !== 'unicast' || metadataAddresses.has(address.toString())) return false;
	return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}

/** Throws `PrivateAddressError` if a URL host is an address that is not public. */
export function requirePublicHost(hostname: string): void {
	const address = hostname.replace(/^\[|\]$/g, '');
	if (isIP(address) !== 0 && !isPublicAddress(address)) throw new PrivateAddressError();
}

/** Resolves names like `dns.lookup`. */
export type Resolve = (
	hostname: string,
	options: { readonly all: true },
	done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/**
 * Returns a `lookup` for connections that fails if any address for the name is not public. The connection uses exactly
 * the checked addresses, so changing the DNS record afterwards has no effect.
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
