/* SPDX-License-Identifier: Apache-2.0 */

#ifndef TEXT_FILE_H
#define TEXT_FILE_H 1

#include <stddef.h>

/* Reads the whole file 'path', which has to be a regular one (others might
 * keep the caller waiting) of at most 'max' bytes.  Returns NULL and the text
 * in '*textp', of '*lenp' bytes, for the caller to free; or what is wrong,
 * which names the file, for the caller to free.  Any thread. */
char *text_file_read(const char *path, size_t max, char **textp,
                     size_t *lenp);

#endif /* text-file.h */
