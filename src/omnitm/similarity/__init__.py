"""How near two words are: rows that stand out, word forms, scorers; knows matrices and words only."""
