import test from 'ava';
import { Email, isSameAddress } from '../../src/wire/email.js';
import { parsed } from './parsed.js';

/** Addresses that client libraries accept, and addresses that they reject. */

const accepted = [
	'a@b.co',
	'elon@tesla.com',
	'first.last+tag@sub.domain-with-hyphen.example.com',
	"o'neil_!#$%&*/=?^`{|}~-@x.io",
	'UPPER@CASE.ORG',
	'1@2.info',
	'a@1.2.com',
	'jösé@example.com',
	'a@bücher.de',
	'a@xn--bcher-kva.de',
	`${'a'.repeat(64)}@b.co`,
	`a@${'b'.repeat(63)}.co`,
];

const reservedDomains = ['arpa', 'invalid', 'local', 'localhost', 'onion', 'test'];

const refused = [
	'',
	'a',
	'@b.co',
	'a@',
	'a@b',
	'a@b.',
	'a@.b.co',
	'a@b..co',
	'.a@b.co',
	'a.@b.co',
	'a..b@c.co',
	'a b@c.co',
	'a@b c.co',
	'a@@b.co',
	'a@b@c.co',
	'"a b"@c.co',
	'a@[127.0.0.1]',
	'a@127.0.0.1',
	'a@b.c1',
	'a@-b.co',
	'a@b-.co',
	'a@ab--cd.co',
	'a@b_c.co',
	'a@xn--zzzzzzz99999.co',
	'Name <a@b.co>',
	'a@b.co\n',
	'a@b.co ',
	'a\u0000@b.co',
	'\ud800@b.co',
	'a@b.co#x',
	'a@b.co/x',
	'a@b.co:80',
	'a@%62.co',
	`${'a'.repeat(65)}@b.co`,
	`a@${'b'.repeat(64)}.co`,
	`a@${'b.'.repeat(126)}co`,
	...reservedDomains.flatMap((top) => [`a@b.${top}`, `a@b.C.${top.toUpperCase()}`]),
	'a@localhost',
];

for (const address of accepted) {
	test(`accepts ${address}`, (t) => {
		t.deepEqual(parsed(Email, address), { data: address });
	});
}

for (const address of refused) {
	test(`rejects ${JSON.stringify(address)}`, (t) => {
		t.deepEqual(parsed(Email, address), { problems: [': value is not a valid email address'] });
	});
}

test('addresses match case-insensitively for ASCII letters, and exactly for other characters', (t) => {
	t.true(isSameAddress('Mike@Example.com', 'mike@example.COM'));
	t.false(isSameAddress('mi\u212ae@example.com', 'mike@example.com'), 'the Kelvin sign is no k');
	t.false(isSameAddress('mike@example.com', 'mike@example.com.'));
	t.false(isSameAddress('\u0130ne@example.com', 'ine@example.com'));
});
