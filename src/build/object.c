/* object.c -- a compiled object becomes code without a linker, whose start alone takes longer than
 * most kernels: sections are laid out in memory, places in them that depend on it are filled in.
 *
 * For objects of ELF for x86-64, compiled with -fPIC.  Whatever is not known here is refused, and
 * the caller links instead.  Functions of libraries may be too far away for a jump: each has a slot
 * with its address, and near by a jump to where the slot says. */
#include "build/build.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined __x86_64__ && defined __linux__
#include <elf.h>

enum { JUMP_BYTES = 8, MOST_ALIGNED = 4096 };

typedef struct {
    const char *name;
    void       *address;
} symbol;

struct ar_object {
    ar_arena arena;
    char    *memory; /* first what is run, then what is read */
    size_t   length, code;
    size_t   nsymbols;
    symbol  *symbols; /* that the object defines for others */
};

/* An object being loaded. */
typedef struct {
    const char       *bytes;
    size_t            length;
    const Elf64_Shdr *sections;
    size_t            nsections;
    const Elf64_Sym  *table;
    size_t            ntable;
    const char       *names;
    size_t            names_length;
    size_t           *places; /* of sections, in the object's memory */
    size_t            jumps, slots;
    bool              writes; /* has data that may be changed */
    void            **found;  /* address of each symbol of the table */
    ar_object        *object;
} loading;

/* ---- Reading --------------------------------------------------------------------------------- */

/* NULL where that is not all within the file, or lies askew. */
static const void *bytes_at(const loading *l, uint64_t offset, uint64_t length)
{
    if (offset > l->length || length > l->length - offset || offset % 8)
        return NULL;
    return l->bytes + offset;
}

static bool read_header(loading *l)
{
    const Elf64_Ehdr *header = bytes_at(l, 0, sizeof *header);

    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_REL ||
        header->e_machine != EM_X86_64 || header->e_shentsize != sizeof(Elf64_Shdr))
        return false;
    l->nsections = header->e_shnum;
    l->sections = bytes_at(l, header->e_shoff, l->nsections * sizeof *l->sections);
    return l->sections && l->nsections > 0;
}

static bool read_table(loading *l, const Elf64_Shdr *section)
{
    const Elf64_Shdr *names =
        section->sh_link < l->nsections ? &l->sections[section->sh_link] : NULL;

    if (l->table || !names || section->sh_entsize != sizeof *l->table)
        return false;
    l->ntable = section->sh_size / sizeof *l->table;
    l->table = bytes_at(l, section->sh_offset, section->sh_size);
    if (names->sh_offset > l->length || names->sh_size > l->length - names->sh_offset)
        return false;
    l->names = l->bytes + names->sh_offset;
    l->names_length = names->sh_size;
    return l->table && l->names_length > 0 && l->names[l->names_length - 1] == '\0';
}

/* Of what comes to memory there are plain bytes, zeros and notes. */
static bool is_loaded(const Elf64_Shdr *section)
{
    return (section->sh_flags & SHF_ALLOC) && section->sh_size > 0;
}

static bool is_known(const loading *l, const Elf64_Shdr *section)
{
    bool plain = section->sh_type == SHT_PROGBITS || section->sh_type == SHT_NOTE;

    if (!is_loaded(section))
        return true;
    if ((section->sh_flags & SHF_TLS) || section->sh_addralign > MOST_ALIGNED ||
        section->sh_size > (uint64_t)1 << 30)
        return false;
    if (section->sh_type == SHT_NOBITS)
        return true;
    return plain && section->sh_offset <= l->length &&
           section->sh_size <= l->length - section->sh_offset;
}

static bool read_sections(loading *l)
{
    for (size_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *section = &l->sections[i];

        if (!is_known(l, section) || (section->sh_type == SHT_SYMTAB && !read_table(l, section)))
            return false;
    }
    return l->table != NULL;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

static size_t place_sections(loading *l, size_t at, bool run)
{
    for (size_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *section = &l->sections[i];

        if (!is_loaded(section) || ((section->sh_flags & SHF_EXECINSTR) != 0) != run)
            continue;
        at = round_up(at, section->sh_addralign ? section->sh_addralign : 1);
        l->places[i] = at;
        at += section->sh_size;
        l->writes = l->writes || (section->sh_flags & SHF_WRITE);
    }
    return at;
}

static bool lay_out(loading *l)
{
    ar_object *o = l->object;
    size_t     page = (size_t)sysconf(_SC_PAGESIZE);

    l->places = ar_arena_alloc(&o->arena, l->nsections, sizeof *l->places);
    l->found = ar_arena_alloc(&o->arena, l->ntable, sizeof *l->found);
    if (!l->places || !l->found)
        return false;
    l->jumps = round_up(place_sections(l, 0, true), JUMP_BYTES);
    o->code = round_up(l->jumps + l->ntable * JUMP_BYTES, page);
    l->slots = round_up(place_sections(l, o->code, false), sizeof(void *));
    o->length = round_up(l->slots + l->ntable * sizeof(void *), page);
    o->memory = mmap(NULL, o->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (o->memory == MAP_FAILED)
        o->memory = NULL;
    for (size_t i = 0; i < l->nsections && o->memory; i++)
        if (is_loaded(&l->sections[i]) && l->sections[i].sh_type != SHT_NOBITS)
            memcpy(o->memory + l->places[i], l->bytes + l->sections[i].sh_offset,
                   l->sections[i].sh_size);
    return o->memory != NULL;
}

/* ---- Symbols --------------------------------------------------------------------------------- */

/* Where kernels find what they call; kept open, since most need them. */
static const char *const library_names[] = { "libm.so.6", "libmvec.so.1", "libgcc_s.so.1" };
static void             *libraries[AR_COUNT(library_names)];

static void open_libraries(void)
{
    for (size_t i = 0; i < AR_COUNT(libraries); i++)
        libraries[i] = dlopen(library_names[i], RTLD_LAZY | RTLD_LOCAL);
}

static void *find_elsewhere(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void                 *address = dlsym(RTLD_DEFAULT, name);

    if (!address)
        pthread_once(&once, open_libraries);
    for (size_t i = 0; i < AR_COUNT(libraries) && !address; i++)
        address = libraries[i] ? dlsym(libraries[i], name) : NULL;
    return address;
}

static const char *name_of(const loading *l, size_t i)
{
    return l->table[i].st_name < l->names_length ? l->names + l->table[i].st_name : "";
}

/* NULL is fine for one that nobody asks for. */
static void *address_of(const loading *l, size_t i)
{
    const Elf64_Sym  *s = &l->table[i];
    const Elf64_Shdr *section = s->st_shndx < l->nsections ? &l->sections[s->st_shndx] : NULL;

    if (s->st_shndx == SHN_UNDEF)
        return *name_of(l, i) ? find_elsewhere(name_of(l, i)) : NULL;
    if (!section || !is_loaded(section) || s->st_value > section->sh_size)
        return NULL;
    return l->object->memory + l->places[s->st_shndx] + s->st_value;
}

static bool keep_symbol(const loading *l, size_t i)
{
    ar_object       *o = l->object;
    const Elf64_Sym *s = &l->table[i];
    const char      *name = name_of(l, i);

    if (s->st_shndx == SHN_UNDEF || ELF64_ST_BIND(s->st_info) != STB_GLOBAL ||
        ELF64_ST_TYPE(s->st_info) != STT_FUNC || !l->found[i])
        return true;
    name = ar_arena_copy(&o->arena, name, strlen(name) + 1, 1);
    o->symbols[o->nsymbols++] = (symbol){ name, l->found[i] };
    return name != NULL;
}

static bool find_symbols(loading *l)
{
    ar_object *o = l->object;

    o->symbols = ar_arena_alloc(&o->arena, l->ntable, sizeof *o->symbols);
    if (!o->symbols)
        return false;
    for (size_t i = 0; i < l->ntable; i++) {
        l->found[i] = address_of(l, i);
        if (!keep_symbol(l, i))
            return false;
    }
    return true;
}

/* ---- Relocations ----------------------------------------------------------------------------- */

static char *slot_of(const loading *l, size_t number)
{
    char *slot = l->object->memory + l->slots + number * sizeof(void *);

    memcpy(slot, &l->found[number], sizeof(void *));
    return slot;
}

/* jmp *slot(%rip), which counts from its end. */
static char *jump_of(const loading *l, size_t number)
{
    static const unsigned char code[2] = { 0xff, 0x25 };
    char                      *jump = l->object->memory + l->jumps + number * JUMP_BYTES;
    int32_t                    far;

    far = (int32_t)(slot_of(l, number) - (jump + sizeof code + sizeof far));
    memcpy(jump, code, sizeof code);
    memcpy(jump + sizeof code, &far, sizeof far);
    return jump;
}

static bool put_difference(char *place, const char *target, int64_t addend)
{
    int64_t far = (int64_t)((uintptr_t)target + (uintptr_t)addend - (uintptr_t)place);
    int32_t near = (int32_t)far;

    memcpy(place, &near, sizeof near);
    return near == far;
}

static bool relocate(const loading *l, char *place, const Elf64_Rela *r)
{
    size_t    number = ELF64_R_SYM(r->r_info);
    bool      outside = l->table[number].st_shndx == SHN_UNDEF;
    char     *target = l->found[number];
    uintptr_t whole = (uintptr_t)target + (uintptr_t)r->r_addend;

    if (!target)
        return false;
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_64: memcpy(place, &whole, sizeof whole); return true;
    case R_X86_64_PC32: return !outside && put_difference(place, target, r->r_addend);
    case R_X86_64_PLT32:
        return put_difference(place, outside ? jump_of(l, number) : target, r->r_addend);
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: return put_difference(place, slot_of(l, number), r->r_addend);
    default: return false;
    }
}

static bool relocate_section(const loading *l, const Elf64_Shdr *section)
{
    const Elf64_Shdr *to = section->sh_info < l->nsections ? &l->sections[section->sh_info] : NULL;
    const Elf64_Rela *all = bytes_at(l, section->sh_offset, section->sh_size);

    if (!to || !all || section->sh_entsize != sizeof *all)
        return false;
    for (size_t i = 0; i < section->sh_size / sizeof *all && is_loaded(to); i++) {
        uint64_t room = ELF64_R_TYPE(all[i].r_info) == R_X86_64_64 ? 8 : 4;

        if (ELF64_R_SYM(all[i].r_info) >= l->ntable || to->sh_type == SHT_NOBITS ||
            to->sh_size < room || all[i].r_offset > to->sh_size - room ||
            !relocate(l, l->object->memory + l->places[section->sh_info] + all[i].r_offset,
                      &all[i]))
            return false;
    }
    return true;
}

static bool relocate_all(const loading *l)
{
    for (size_t i = 0; i < l->nsections; i++)
        if (l->sections[i].sh_type == SHT_REL ||
            (l->sections[i].sh_type == SHT_RELA && !relocate_section(l, &l->sections[i])))
            return false;
    return true;
}

/* ---- The door -------------------------------------------------------------------------------- */

static bool protect(const loading *l)
{
    const ar_object *o = l->object;

    return mprotect(o->memory, o->code, PROT_READ | PROT_EXEC) == 0 &&
           (l->writes || mprotect(o->memory + o->code, o->length - o->code, PROT_READ) == 0);
}

bool ar_object_is_possible(void) { return true; }

ar_object *ar_object_load(const char *bytes, size_t length)
{
    ar_object *o = ar_alloc(1, sizeof *o);
    loading    l = { .bytes = bytes, .length = length, .object = o };

    if (o && read_header(&l) && read_sections(&l) && lay_out(&l) && find_symbols(&l) &&
        relocate_all(&l) && protect(&l))
        return o;
    ar_object_free(o);
    return NULL;
}

void *ar_object_symbol(const ar_object *object, const char *name)
{
    for (size_t i = 0; i < object->nsymbols; i++)
        if (strcmp(object->symbols[i].name, name) == 0)
            return object->symbols[i].address;
    return NULL;
}

void ar_object_free(ar_object *object)
{
    if (!object)
        return;
    if (object->memory)
        munmap(object->memory, object->length);
    ar_arena_free(&object->arena);
    ar_free(object);
}

#else

bool ar_object_is_possible(void) { return false; }

ar_object *ar_object_load(const char *bytes, size_t length)
{
    (void)bytes, (void)length;
    return NULL;
}

void *ar_object_symbol(const ar_object *object, const char *name)
{
    (void)object, (void)name;
    return NULL;
}

void ar_object_free(ar_object *object) { (void)object; }

#endif
