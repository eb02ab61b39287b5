import { z } from 'zod';

/** The most characters of a secret in a request. */
const maxTokenLength = 16_384;

/** A secret in a request. Problems with it do not show it. */
export const HiddenText = z.string().superRefine((text, ctx) => {
	// The input of the problem stands in for the text, because messages show a text.
	if (text.length > maxTokenLength || text === '') ctx.addIssue({ code: 'custom', message: tokenMessage, input: {} });
});
const tokenMessage = `must have 1 to ${maxTokenLength} characters`;
