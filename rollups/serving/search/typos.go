package search

import (
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// minTypoLetters is how many letters a word needs for a typo in it to be forgiven.
const minTypoLetters = 4

// forgiving reports whether a typo in word is forgiven: it has four letters or more and nothing but
// letters, because 2025 is not a misspelt 2024.
func forgiving(word string) bool {
	return utf8.RuneCountInString(word) >= minTypoLetters && lettersOnly(word)
}

func lettersOnly(word string) bool {
	for _, r := range word {
		if unicode.IsNumber(r) {
			return false
		}
	}
	return true
}

// typoIndex finds the words one typo away from a given one. Each word is filed under the
// fingerprints of itself and of itself without any one letter: two words that differ by one
// insertion, deletion, substitution or transposition share a fingerprint.
type typoIndex []uint64 // fingerprint<<32 | word, sorted

func newTypoIndex(words []string) typoIndex {
	var n typoIndex
	for i, w := range words {
		if utf8.RuneCountInString(w) >= minTypoLetters-1 && lettersOnly(w) && w[0] != 0 {
			shortened(w, func(print uint32) { n = append(n, uint64(print)<<32|uint64(i)) })
		}
	}
	slices.Sort(n)
	return slices.Clip(slices.Compact(n))
}

// find returns the words of list that are exactly one typo away from word.
func (n typoIndex) find(list []string, word string) []int {
	var found []int
	shortened(word, func(print uint32) {
		at := sort.Search(len(n), func(i int) bool { return uint32(n[i]>>32) >= print })
		for ; at < len(n) && uint32(n[at]>>32) == print; at++ {
			if i := int(uint32(n[at])); oneTypo([]rune(word), []rune(list[i])) {
				found = append(found, i)
			}
		}
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// shortened calls f with the fingerprints of word and of word less each letter.
func shortened(word string, f func(print uint32)) {
	f(uint32(xxhash.Sum64String(word)))
	var room [64]byte
	for i, r := range word {
		b := append(append(room[:0], word[:i]...), word[i+utf8.RuneLen(r):]...)
		f(uint32(xxhash.Sum64(b)))
	}
}

// oneTypo reports whether one insertion, deletion, substitution or transposition of neighbours
// turns a into b.
func oneTypo(a, b []rune) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch len(a) - len(b) {
	case 1:
		return slices.Equal(a[1:], b)
	case -1:
		return slices.Equal(a, b[1:])
	case 0:
		if len(a) == 0 {
			return false
		}
		return slices.Equal(a[1:], b[1:]) ||
			len(a) > 1 && a[0] == b[1] && a[1] == b[0] && slices.Equal(a[2:], b[2:])
	}
	return false
}
