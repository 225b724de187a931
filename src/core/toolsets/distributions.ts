import type { Distribution } from './distribution.ts';

/** The distributions that ship, with Hermes' names and percentages, toolsets in its order. */
export const DISTRIBUTIONS: readonly Distribution[] = [
  {
    name: 'default',
    description: 'Every toolset, always',
    toolsets: {
      web: 100,
      vision: 100,
      image_gen: 100,
      terminal: 100,
      file: 100,
      moa: 100,
      browser: 100,
    },
  },
  {
    name: 'image_gen',
    description: 'Making pictures and looking at them, now and then with web and terminal',
    toolsets: { image_gen: 90, vision: 90, web: 55, terminal: 45, moa: 10 },
  },
  {
    name: 'research',
    description: 'Finding things out on the web, with a browser at hand',
    toolsets: { web: 90, browser: 70, vision: 50, moa: 40, terminal: 10 },
  },
  {
    name: 'science',
    description: 'Computing and files beside the literature on the web',
    toolsets: {
      web: 94,
      terminal: 94,
      file: 94,
      vision: 65,
      browser: 50,
      image_gen: 15,
      moa: 10,
    },
  },
  {
    name: 'development',
    description: 'Writing software: terminal and files, other models for advice',
    toolsets: { terminal: 80, file: 80, moa: 60, web: 30, vision: 10 },
  },
  {
    name: 'safe',
    description: 'Everything that runs no command and touches no file',
    toolsets: { web: 80, browser: 70, vision: 60, image_gen: 60, moa: 50 },
  },
  {
    name: 'balanced',
    description: 'Every toolset as likely as not',
    toolsets: {
      web: 50,
      vision: 50,
      image_gen: 50,
      terminal: 50,
      file: 50,
      moa: 50,
      browser: 50,
    },
  },
  {
    name: 'minimal',
    description: 'The web and nothing else',
    toolsets: { web: 100 },
  },
  {
    name: 'terminal_only',
    description: 'Terminal and files, no network tool',
    toolsets: { terminal: 100, file: 100 },
  },
  {
    name: 'terminal_web',
    description: 'Terminal and files, with the web to look things up',
    toolsets: { terminal: 100, file: 100, web: 100 },
  },
  {
    name: 'creative',
    description: 'Pictures first, sometimes the web for material',
    toolsets: { image_gen: 90, vision: 90, web: 30 },
  },
  {
    name: 'reasoning',
    description: 'Several models thinking together, few other means',
    toolsets: { moa: 90, web: 30, terminal: 20 },
  },
  {
    name: 'browser_use',
    description: 'A browser always, mostly with web search and sight',
    toolsets: { browser: 100, web: 80, vision: 70 },
  },
  {
    name: 'browser_only',
    description: 'The browser and nothing else',
    toolsets: { browser: 100 },
  },
  {
    name: 'browser_tasks',
    description: 'Work in a browser, rarely with more',
    toolsets: { browser: 97, vision: 12, terminal: 15 },
  },
  {
    name: 'terminal_tasks',
    description: 'Work in a terminal with files and web, often a browser too',
    toolsets: { terminal: 97, file: 97, web: 97, browser: 75, vision: 50, image_gen: 10 },
  },
  {
    name: 'mixed_tasks',
    description: 'Work that needs a browser and a terminal alike',
    toolsets: { browser: 92, terminal: 92, file: 92, web: 35, vision: 15, image_gen: 15 },
  },
];
