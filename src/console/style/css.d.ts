/** Style sheets are imported for the page alone: the bundler puts them into a file. */
declare module '*.css';
