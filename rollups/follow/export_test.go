package follow

// CompareEvery is from one comparison of a node with the first one to the next.
const CompareEvery = compareEvery
