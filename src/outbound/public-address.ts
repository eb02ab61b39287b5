import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses that may be called. For a host name, its addresses are checked when the connection is opened. */

/** Thrown for an address that is not public. */
export class PrivateAddressError extends Error {
	override readonly name = 'PrivateAddressError';

	constructor() {
		// The message must not reveal how names are resolved in this network, so it has no details.
		super('the address is not public');
	}
}

/** Cloud addresses that look public but return secrets to the calling machine. */
const metadataAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for a unicast address on the public internet, in standard IPv4 or IPv6 notation. False for loopback, link-local,
 * private, unique-local and multicast addresses, for every other special range, and for text that is not an address.
 */
export function isPublicAddress(text: string): boolean {
	// The library also accepts notations that no DNS lookup returns, so reject them here.
	if (isIP(text) === 0) return false;
	const address = ipaddr.process(text);
	if (address.range() !== 'unicast' || metadataAddresses.has(address.toString())) return false;
	return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}

/** Throws `PrivateAddressError` if the host in a URL is an address that is not public. */
export function requirePublicHost(hostname: string): void {
	const address = hostname.replace(/^\[|\]$/g, '');
	if (isIP(address) !== 0 && !isPublicAddress(address)) throw new PrivateAddressError();
}

/** Resolves names, with the signature of `dns.lookup`. */
export type Resolve = (
	hostname: string,
	options: { readonly all: true },
	done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/**
 * Returns a `lookup` for connections. It fails if any address of the name is not public. The connection uses exactly
 * the checked addresses, so a later change to the DNS record has no effect.
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
