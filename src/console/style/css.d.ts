/** Style sheets are imported only for the page: the bundler writes them to a file. */
declare module '*.css';
