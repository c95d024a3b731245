#ifdef __linux__

#include "jpeg_low_frequency.h"

#include <string.h>
#include <jerror.h>

/// Which coefficients of a block are kept, in natural order.
enum { KEPT = 4 };
static const int places[KEPT] = {0, 1, DCTSIZE, DCTSIZE + 1};

static jpeg_low_frequency *make(j_common_ptr info, int pool, JDIMENSION width, JDIMENSION height, JDIMENSION capacity) {
    struct jpeg_memory_mgr *memory = info->mem;
    size_t bytes = (size_t)width * height * KEPT * sizeof(JCOEF), row = (size_t)width * sizeof(JBLOCK);
    jpeg_low_frequency *made = memory->alloc_small(info, pool, sizeof *made);
    memset(made, 0, sizeof *made);
    made->width = width;
    made->height = height;
    made->capacity = capacity;
    made->kept = memory->alloc_large(info, pool, bytes);
    memset(made->kept, 0, bytes);
    made->rows = memory->alloc_small(info, pool, capacity * sizeof(JBLOCKROW));
    for (JDIMENSION i = 0; i < capacity; i++) {
        made->rows[i] = memory->alloc_large(info, pool, row);
        memset(made->rows[i], 0, row);
    }
    return made;
}

static jvirt_barray_ptr request(j_common_ptr info, int pool, boolean zero, JDIMENSION width, JDIMENSION height,
                                JDIMENSION capacity) {
    jpeg_low_frequency_memory *memory = info->client_data;
    j_decompress_ptr picture = (j_decompress_ptr)info;
    int index = memory->asked++;
    if (index >= picture->num_components || index >= MAX_COMPONENTS || picture->comp_info[index].DCT_scaled_size != 2)
        return memory->request(info, pool, zero, width, height, capacity);
    memory->components[index] = make(info, pool, width, height, capacity);
    return (jvirt_barray_ptr)memory->components[index];
}

static void put_back(jpeg_low_frequency *component) {
    for (JDIMENSION row = 0; component->changed && row < component->count; row++) {
        JCOEF *kept = component->kept + (size_t)(component->first + row) * component->width * KEPT;
        for (JDIMENSION x = 0; x < component->width; x++)
            for (int i = 0; i < KEPT; i++) *kept++ = component->rows[row][x][places[i]];
    }
    component->changed = FALSE;
}

static void take_out(jpeg_low_frequency *component, JDIMENSION first, JDIMENSION count) {
    component->first = first;
    component->count = count;
    for (JDIMENSION row = 0; row < count; row++) {
        const JCOEF *kept = component->kept + (size_t)(first + row) * component->width * KEPT;
        memset(component->rows[row], 0, component->width * sizeof(JBLOCK));
        for (JDIMENSION x = 0; x < component->width; x++)
            for (int i = 0; i < KEPT; i++) component->rows[row][x][places[i]] = *kept++;
    }
}

static JBLOCKARRAY access_rows(j_common_ptr info, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count,
                               boolean writable) {
    jpeg_low_frequency_memory *memory = info->client_data;
    jpeg_low_frequency *component = NULL;
    for (int i = 0; i < MAX_COMPONENTS && !component; i++)
        if (memory->components[i] == (jpeg_low_frequency *)array) component = memory->components[i];
    if (!component) return memory->access(info, array, first, count, writable);
    if (count > component->capacity || first > component->height || count > component->height - first)
        ERREXIT(info, JERR_BAD_VIRTUAL_ACCESS);
    // A scan leaves other coefficients in the rows. Before libjpeg reads changed rows, they are made again from the kept ones.
    if (component->first != first || component->count != count || (component->changed && !writable)) {
        put_back(component);
        take_out(component, first, count);
    }
    component->changed |= writable;
    return component->rows;
}

void jpeg_low_frequency_install(j_decompress_ptr info) {
    jpeg_low_frequency_memory *memory = info->client_data;
    memory->request = info->mem->request_virt_barray;
    memory->access = info->mem->access_virt_barray;
    info->mem->request_virt_barray = request;
    info->mem->access_virt_barray = access_rows;
}

#endif
